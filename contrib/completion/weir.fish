# SPDX-License-Identifier: BSD-3-Clause
# Completion of weir for fish. The program itself knows what may stand where.
function __weir_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for candidate in ($words[1] --complete $words[2..-1] "$current" 2>/dev/null)
        if test "$candidate" = /
            __fish_complete_path "$current"
        else
            echo $candidate
        end
    end
end
complete -c weir -f -a '(__weir_candidates)'
