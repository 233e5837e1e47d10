// spinner.c
#pragma once

#include <atomic>

extern "C" {
void spin_until(const std::atomic<int>* value, int wanted, const std::atomic<int>* given_up);
int compute_until(const std::atomic<int>* value, int wanted, const std::atomic<int>* given_up, double seed);
}
