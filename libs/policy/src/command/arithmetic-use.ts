/**
 * What the arithmetic of a script reads. A shell evaluates the value of a variable in arithmetic as an expression of its own,
 * and a subscript in it may hold a substitution: whoever writes the value runs code. The order does not count, as loops go back.
 */
export interface ArithmeticUse {
  /** Variables whose value is evaluated. */
  readonly evaluated: Set<string>;
  /** Variables that may hold a text that nobody has read. */
  readonly texts: Set<string>;
  /** Names that occur in the values of a variable. */
  readonly flows: Map<string, Set<string>>;
}

export function noArithmetic(): ArithmeticUse {
  return { evaluated: new Set(), texts: new Set(), flows: new Map() };
}
