// How what the watchdog has interrupted gives way to what waits.
#pragma once

namespace weft::core {

/// From the handler of its signal, on the KLT that it has interrupted: what runs there may be left now.
void give_way_to_watchdog();

}  // namespace weft::core
