import { exitCodes } from '@flotilla/cli/exit-codes';
import { globalOptions } from '@flotilla/cli/global-options';
import { verbs } from '@flotilla/cli/verbs';
import { type Verb, type VerbOption, writeArgument } from '@flotilla/cli/verb';
import { code, markdownPage, type Page, renderTable } from './page.ts';

export function cliPage(): Page {
  return markdownPage('cli', 'Command line', 'services/cli/src/verbs', [
    'Run `npx flotilla` in the clone. It finds the fleet by flags, by `FLOTILLA_URL` and `FLOTILLA_TOKEN`, or as the one that runs on this machine; `latest` stands for the newest run.',
    renderTable(
      ['Exit code', 'Meaning'],
      Object.values(exitCodes).map((each) => [String(each.code), each.summary]),
    ),
    'Every verb takes:',
    renderOptions(globalOptions),
    ...verbs.map(renderVerb),
  ]);
}

function renderVerb({ name, summary, arguments: takes, options, examples, words, json }: Verb): string {
  const usage = ['flotilla', name, ...takes.map(writeArgument)];
  return [
    `## flotilla ${name}`,
    `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    ['```sh', usage.join(' '), '```'].join('\n'),
    ...(takes.length === 0
      ? []
      : [
          renderTable(
            ['Argument', 'Meaning'],
            takes.map((each) => [code(each.name), each.summary]),
          ),
        ]),
    ...(options.length === 0 ? [] : [renderOptions(options)]),
    ...(words === undefined
      ? []
      : [
          renderTable(
            [words.title, 'Meaning'],
            words.meanings.map(([word, meaning]) => [code(word), meaning]),
          ),
        ]),
    `With \`--json\`: ${json.startsWith('{') ? code(json) : json}.`,
    ['```sh', ...examples.flatMap((example) => [`# ${example.summary}`, example.command]), '```'].join('\n'),
  ].join('\n\n');
}

function renderOptions(options: readonly VerbOption[]): string {
  return renderTable(
    ['Option', 'Meaning'],
    options.map(({ flags, summary, repeatable }) => [
      code(flags),
      repeatable === true ? `${summary} (may be given several times)` : summary,
    ]),
  );
}
