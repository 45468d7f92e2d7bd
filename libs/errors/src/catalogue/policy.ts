/** Policy answers with decisions, which are values; see the codes in libs/policy/src/tool-call.ts. */
export const policyErrors = {} as const;
