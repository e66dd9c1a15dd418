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
# `kept`: what of the last word stays, and is no part of what takes its place: all but its last
# piece.
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
	[[ $piece == *[!=:]* ]] || piece=
	current=${raw[${#raw[@]} - 1]}
	_weir_unquote "${current%"$piece"}"
	kept=$REPLY
	for piece in "${raw[@]}"; do
		_weir_unquote "$piece"
		words+=("$REPLY")
	done
	current=$REPLY
}

_weir() {
	local candidate REPLY words current kept program prefix
	_weir_words
	# bash expands no tilde in a word that comes from a variable.
	program=${words[0]}
	[[ $program != "~/"* ]] || program=$HOME/${program:2}
	COMPREPLY=()
	while IFS= read -r candidate; do
		if [ "${candidate:0:1}" = / ]; then
			compopt -o filenames
			prefix=${candidate:1}
			while IFS= read -r candidate; do
				candidate=$prefix$candidate
				COMPREPLY+=("${candidate#"$kept"}")
			done < <(compgen -f -- "${current#"$prefix"}")
		else
			COMPREPLY+=("${candidate#"$kept"}")
		fi
	done < <("$program" --complete "${words[@]:1}" 2> /dev/null)
}
complete -F _weir weir
