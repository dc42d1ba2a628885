#include <cstdint>
#include <cstring>

#include "conformance/device/copy_rows.h"
#include "kernels/tensor.h"

namespace bitproof::conformance {

void copy_rows_on_host(const DLTensor& from, const DLTensor& to) {
  const std::int64_t rows = from.shape[0], width = from.shape[1];
  for (std::int64_t row = 0; row < rows; ++row)
    std::memcpy(kernels::data_of(to) + row * kernels::row_stride(to),
                kernels::data_of(from) + row * kernels::row_stride(from),
                static_cast<std::size_t>(width) * sizeof(std::uint16_t));
}

}  // namespace bitproof::conformance
