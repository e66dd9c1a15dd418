# SPDX-License-Identifier: BSD-3-Clause
# Completion of weir for bash. The program itself knows what may stand where.

# The word without its quotes, in REPLY. One that is not closed ends with the word.
_weir_unquote() {
	local word=$1 quote='' c i
	REPLY=
	for ((i = 0; i < ${#word}; i++)); do
		c=${word:i:1}
		if [ "$c" = "$quote" ]; then
			quote=
		elif [ "$quote" = "'" ]; then
			REPLY+=$c
		elif [ "$c" = \\ ]; then
			REPLY+=${word:i + 1:1} i=$((i + 1))
		elif [ -z "$quote" ] && { [ "$c" = "'" ] || [ "$c" = '"' ]; }; then
			quote=$c
		else
			REPLY+=$c
		fi
	done
}

# The words up to the cursor, as the program would get them, in `words`. COMP_WORDS has them in
# quotes, and cut at `=` and `:` (COMP_WORDBREAKS): pieces without a blank between are one word.
_weir_words() {
	local rest=${COMP_LINE:0:COMP_POINT} piece blank i raw=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		blank=${rest%%[![:space:]]*}
		rest=${rest#"$blank"}
		piece=${COMP_WORDS[i]:0:${#rest}}
		rest=${rest:${#piece}}
		if [ "$i" -gt 0 ] && [ -z "$blank" ]; then
			raw[${#raw[@]} - 1]+=$piece
		else
			raw+=("$piece")
		fi
	done
	words=()
	for piece in "${raw[@]}"; do
		_weir_unquote "$piece"
		words+=("$REPLY")
	done
}

_weir() {
	local candidate REPLY words current kept
	_weir_words
	current=${words[${#words[@]} - 1]}
	# What is typed up to such a character stays, and is no part of what takes its place.
	kept=${current%"${current##*[=:]}"}
	COMPREPLY=()
	while IFS= read -r candidate; do
		if [ "$candidate" = / ]; then
			compopt -o filenames
			while IFS= read -r candidate; do
				COMPREPLY+=("${candidate#"$kept"}")
			done < <(compgen -f -- "$current")
		else
			COMPREPLY+=("${candidate#"$kept"}")
		fi
	done < <("${COMP_WORDS[0]}" --complete "${words[@]:1}" 2> /dev/null)
}
complete -F _weir weir
