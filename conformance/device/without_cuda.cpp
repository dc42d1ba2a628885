// Stands in for the devices and their checks in a build without CUDA.
#include <stdexcept>

#include "conformance/bench/bench.h"
#include "conformance/device/copy_rows.h"
#include "conformance/device/cuda_devices.h"
#include "conformance/elementwise/elementwise_check.h"
#include "conformance/foreign/kernel_file.h"
#include "conformance/mutants/mutant.h"
#include "conformance/mutants/planted.h"
#include "conformance/units/unit_plan.h"

namespace bitproof::conformance {

CudaDevices find_cuda_devices() {
  return {
      {},
      "no CUDA device: this build has no CUDA; install CUDA 13.0's nvcc (or put it on PATH) and build again"};
}

std::vector<ElementwiseImplementation> device_implementations() {
  const auto absent = [](std::string_view name) {
    return ElementwiseImplementation{.name = std::string(name),
                                     .location = Location::device,
                                     .vector_elements = 8,
                                     .can_use = {},
                                     .run = {}};
  };
  return {absent("cuda.fused"), absent("cuda.eager"), absent("cuda.baseline")};
}

std::unique_ptr<Check> make_device_check(const ElementwiseSubject&, int) {
  throw std::logic_error("a build without CUDA plans no check on a device");
}

void copy_rows(const DLTensor& from, const DLTensor& to, CUstream_st*) { copy_rows_on_host(from, to); }

ElementwiseImplementation device_mutant(Fault) {
  throw std::logic_error("a build without CUDA plans no mutant on a device");
}

std::vector<ElementwiseImplementation> planted_device_implementations() { return {}; }

ElementwiseImplementation device_one_bit_control() { return device_mutant(Fault::none); }

std::vector<BenchEntry> bench_elementwise(const BenchSubject&, int) {
  throw std::logic_error("a build without CUDA finds no device to time");
}

ElementwiseImplementation load_device_kernel(const std::string&, const LaunchDescription&, std::string, int) {
  throw std::logic_error("a build without CUDA finds no device to load a kernel on");
}

std::unique_ptr<Check> make_unit_check(const UnitFunction&, Record, int) {
  throw std::logic_error("a build without CUDA plans no check on a device");
}

}  // namespace bitproof::conformance
