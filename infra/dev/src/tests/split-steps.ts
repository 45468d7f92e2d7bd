export type Step = readonly [program: string, ...words: string[]];

const plainCommand = /^\s*[\w:./@=-]+(\s+[\w:./@=-]+)*\s*$/;

/** The steps of a script that joins plain commands by `&&`: words without quotes, variables or other operators. */
export function splitSteps(script: string): readonly Step[] {
  return script.split('&&').map((text) => {
    const [program, ...words] = text.trim().split(/\s+/);
    if (program === undefined || !plainCommand.test(text)) throw new Error(`no plain command: ${text}`);
    return [program, ...words];
  });
}
