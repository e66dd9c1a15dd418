# SPDX-License-Identifier: BSD-3-Clause
# Completion of weir for bash. The program itself knows what may stand where.
_weir() {
	local candidate current=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	while IFS= read -r candidate; do
		if [ "$candidate" = / ]; then
			compopt -o filenames
			while IFS= read -r candidate; do
				COMPREPLY+=("$candidate")
			done < <(compgen -f -- "$current")
		else
			COMPREPLY+=("$candidate")
		fi
	done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -F _weir weir
