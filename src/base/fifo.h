// A singly linked first-in-first-out list through a member of its elements. Not thread-safe.
#pragma once

namespace weft::base {

template <class T, T* T::*Link>
class Fifo {
 public:
  bool empty() const { return head_ == nullptr; }
  T* front() const { return head_; }

  void push(T* element) { append(element, element); }

  /// Puts the chain first..last, linked by Link, behind all others.
  void append(T* first, T* last) {
    last->*Link = nullptr;
    if (tail_ != nullptr)
      tail_->*Link = first;
    else
      head_ = first;
    tail_ = last;
  }

  /// Puts the chain first..last, linked by Link, before all others.
  void prepend(T* first, T* last) {
    last->*Link = head_;
    if (tail_ == nullptr) tail_ = last;
    head_ = first;
  }

  /// Everything, as a list of its own.
  Fifo take_all() {
    const Fifo all = *this;
    *this = Fifo();
    return all;
  }

  T* pop() {
    T* element = head_;
    if (element == nullptr) return nullptr;
    head_ = element->*Link;
    if (head_ == nullptr) tail_ = nullptr;
    return element;
  }

  /// Takes out the first element for which `wanted` holds; nullptr if there is none.
  template <class Predicate>
  T* take_if(Predicate wanted) {
    T* before = nullptr;
    for (T* element = head_; element != nullptr; before = element, element = element->*Link) {
      if (!wanted(element)) continue;
      (before != nullptr ? before->*Link : head_) = element->*Link;
      if (tail_ == element) tail_ = before;
      return element;
    }
    return nullptr;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
};

}  // namespace weft::base
