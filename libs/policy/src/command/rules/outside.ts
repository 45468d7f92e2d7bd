/** A path that leaves the workspace, which is at `/workspace` in every slot. */
export const OUTSIDE = /^(?!\/workspace(\/|$))[/~]|(^|\/)\.\.(\/|$)/;

/** A file that is source and no build output, or lies outside the workspace. */
export const SOURCE_OR_OUTSIDE =
  /\.(c|cc|cpp|cxx|h|hpp|hh|ts|tsx|mjs|cjs|jsx|py|rb|go|rs|java|kt|json|ya?ml|toml|md|txt|sh|lock|mod|sum)$|^(?!\/workspace(\/|$))[/~]|(^|\/)\.[^/.]|(^|\/)\.\.(\/|$)/;
