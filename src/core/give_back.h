// Giving back to the system what an idle runtime keeps for the next time. What is needed comes anew by itself.
#pragma once

namespace weft::os {
struct AwaitedEnds;
}

namespace weft::core {

/// By a root outside everything: ends the KLTs of idle workers, if it is the only root, and unmaps free stacks and ends
/// free identities, those of workers that have ended and its own. `awaited`: these KLTs are among them then.
void give_back(os::AwaitedEnds* awaited);

}  // namespace weft::core
