// SPDX-License-Identifier: BSD-3-Clause
module weir.example.org/weir

go 1.25
