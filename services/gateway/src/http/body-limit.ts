/** Four times the largest goal: every call fits, nothing else needs to. */
export const BODY_LIMIT_BYTES = 256 * 1024;
