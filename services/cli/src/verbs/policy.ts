import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { classifyCommand } from '@flotilla/policy/command/classify-command';
import { classifyLines } from '@flotilla/policy/command/classify-lines';
import { explainCommand } from '@flotilla/policy/command/explain-command';
import { decideLine } from '@flotilla/policy/decide-line';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report, type Session } from '../session.ts';
import { visibleText } from '../text/visible-text.ts';
import { readGiven, type Verb } from '../verb.ts';

const Classified = z.object({
  command: z.string().optional(),
  jsonl: z.boolean().default(false),
  network: z.boolean().default(true),
});
const networkOption = {
  flags: '--no-network',
  summary: 'as for a step without a network, which refuses what needs one',
};

export const classifyPolicy: Verb = {
  name: 'policy classify',
  summary: 'tell the classes of a shell command, or of one a line; needs no fleet',
  arguments: [{ name: 'command', summary: 'the command, as one argument', optional: true }],
  options: [
    {
      flags: '--jsonl',
      summary:
        'read lines of {"id","command"} from standard input and print one of {"id","class","classes","verdict","irreversible","reasons"} for each',
    },
    networkOption,
  ],
  examples: [
    { command: 'flotilla policy classify "git push --force"', summary: 'one command' },
    {
      command: 'flotilla policy classify --jsonl < commands.jsonl',
      summary: 'many; a line that cannot be read is answered with its "error"',
    },
  ],
  json: 'the class, classes, verdict, irreversible and reasons; with --jsonl a line each either way',
  calls: [],
  run: async (given, session) => {
    const { command, jsonl, network } = readGiven('policy classify', Classified, given);
    if (jsonl) {
      const options = { network };
      for await (const line of session.lines())
        for (const answer of classifyLines([line], options)) printLine(session, answer);
      return exitCodes.done.code;
    }
    const { parts: _, ...found } = classifyCommand(wanted('policy classify', command), { network });
    report(session, found, () =>
      visibleText(
        [`${found.class}: ${found.verdict}${found.irreversible ? ', irreversible' : ''}`, ...found.reasons].join(
          '\n  ',
        ),
      ),
    );
    return exitCodes.done.code;
  },
};

const Explained = z.object({ command: z.string(), network: z.boolean().default(true) });

export const explainPolicy: Verb = {
  name: 'policy explain',
  summary: 'say in words what a shell command may do and whether it would run; needs no fleet',
  arguments: [{ name: 'command', summary: 'the command, as one argument' }],
  options: [networkOption],
  examples: [{ command: 'flotilla policy explain "find . -name \'*.log\' -delete"', summary: 'part by part' }],
  json: 'the text: {"text"}',
  calls: [],
  run: (given, session) => {
    const { command, network } = readGiven('policy explain', Explained, given);
    const text = explainCommand(command, { network });
    report(session, { text }, () => visibleText(text));
    return Promise.resolve(exitCodes.done.code);
  },
};

export const decidePolicy: Verb = {
  name: 'policy decide',
  summary: 'decide calls of tools that are only described, one a line; needs no fleet',
  arguments: [],
  options: [
    {
      flags: '--jsonl',
      summary:
        'read lines of {"id","mode","grants","request","call","workspace"} from standard input and print one of {"id","verdict","reason"} for each',
    },
  ],
  examples: [
    {
      command: 'flotilla policy decide --jsonl < calls.jsonl',
      summary:
        'for example {"id":1,"mode":"auto","grants":{"fs.write":{"paths":["src/**"]}},"call":{"tool":"fs.write","path":"src/a.ts"}}',
    },
  ],
  words: {
    title: 'Verdicts',
    meanings: [
      ['allow', 'the call runs'],
      ['ask', 'a person is asked first'],
      ['deny', 'it is refused, and nobody is asked'],
      ['absent', 'the tool is not offered; a call of it is refused'],
      ['reject', 'the line, or a document in it, is not read at all'],
    ],
  },
  json: 'a line each, either way',
  calls: [],
  run: async (_, session) => {
    for await (const line of session.lines()) if (line.trim() !== '') printLine(session, decideLine(line));
    return exitCodes.done.code;
  },
};

function printLine(session: Pick<Session, 'out'>, answer: unknown): void {
  session.out(JSON.stringify(answer));
}

function wanted(verb: string, command: string | undefined): string {
  if (command !== undefined) return command;
  throw new FlotillaError(errors.usageInvalid, {
    verb,
    reason: 'it wants a command, or --jsonl and lines on standard input',
  });
}
