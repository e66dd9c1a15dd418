# SPDX-License-Identifier: BSD-3-Clause
# Completion of weir for fish. The program itself knows what may stand where.
function __weir_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # fish expands no tilde in a word that comes from a variable.
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    type -q -- $program; or return
    for candidate in ($program --complete $words[2..-1] (string unescape -- "$current") 2>/dev/null)
        if string match -q '/*' -- $candidate
            # As if for a command that has no completion. fish itself finds files behind `=`.
            complete -C "'' $current"
        else
            echo $candidate
        end
    end
end
complete -c weir -f -a '(__weir_candidates)'
