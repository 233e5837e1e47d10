// How a function becomes a symbol of the drop-in library. Its version is given by libgomp.map.
#pragma once

#define WEFT_EXPORT extern "C" [[gnu::visibility("default")]]

/// Gives the exported function `function` a further name with a version, NAME@@VERSION (what programs
/// are linked against) or NAME@VERSION (only for those that were). For names that have two versions.
#define WEFT_VERSION(function, versioned_name) __asm__(".symver " #function ", " versioned_name)
