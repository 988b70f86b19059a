PS1='ready> '
