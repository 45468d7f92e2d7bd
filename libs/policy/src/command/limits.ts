/** Longest command that is read, in characters, and the most that is read again inside it (`sh -c`, `eval`). */
export const LENGTH_LIMIT = 16_384;
export const INNER_LENGTH_LIMIT = 2 * LENGTH_LIMIT;
/** What a text inside costs at least, in characters: a short one is read by a parser of its own too. */
export const INNER_COST = 64;
/** Substitutions in substitutions, and any node in a node. */
export const SCRIPT_DEPTH_LIMIT = 32;
export const NODE_DEPTH_LIMIT = 600;
/** Each level of nesting is read again by the level above it: their product is what reading costs. */
export const NESTING_LIMIT = 160;
export const NESTED_FUNCTIONS = /(?:[^\s(){}'"]{1,40}\s{0,8}\(\s{0,8}\)\s{0,8}){60}/;
export const NESTING_COST_LIMIT = 600_000;
export const NODES_LIMIT = 40_000;
/** What reading a piece of arithmetic as a subshell costs at least, in nodes. */
export const SUBSHELL_COST = 60;
/** Lines that could not be read, after which reading starts anew. */
export const RESTARTS_LIMIT = 3;
