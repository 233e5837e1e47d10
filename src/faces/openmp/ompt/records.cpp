#include "faces/openmp/ompt/records.h"

#include "faces/openmp/team.h"

namespace weft::openmp::ompt {
namespace {

// What is asked for where no tool has come after all: the events that follow reach nobody.
struct Nobody {
  Thread thread;
  Region region;
  ImplicitRecord task;
  Nobody() {
    task.implicit = &task;
    task.thread = &thread;
    task.region = &region;
  }
};

Nobody nobody;

ImplicitRecord& implicit_record(const Member& member) {
  Record* record = record_of(member.implicit);
  return record != nullptr ? *record->implicit : nobody.task;
}

Record& task_record(const Member& member) {
  Record* record = record_of(*member.task);
  return record != nullptr ? *record : implicit_record(member);
}

}  // namespace

Here::Here(Member& calling)
    : member(calling),
      task(task_record(calling)),
      implicit(implicit_record(calling)),
      thread(*implicit.thread),
      region(*implicit.region) {}

}  // namespace weft::openmp::ompt
