import { callCatalogue } from '@flotilla/contracts/call-catalogue';
import { roles } from '@flotilla/contracts/define-call';
import { capabilities, capabilityIds, groupOf } from '@flotilla/policy/capabilities';
import { commandClasses, decideByClasses, summaryOfClass } from '@flotilla/policy/command/command-class';
import { namesOf, ruleFamilies } from '@flotilla/policy/command/rule-table';
import { code, markdownPage, type Page, renderTable } from './page.ts';

const modes: readonly (readonly [mode: string, meaning: string])[] = [
  [
    'auto',
    'asks for nothing but what is irreversible and what a grant marks `ask`; refuses what is refused in every mode',
  ],
  [
    'normal',
    'asks before each call that changes something; while nobody can be asked, such a call is refused with `ASK_FIRST`',
  ],
  ['plan', 'changes nothing: calls that change something are refused and their tools are not offered'],
];

export function policyPage(): Page {
  return markdownPage('policy', 'Policy', 'libs/policy/src', [
    'What an agent may do is decided before it does it. A call passes its grants, its paths, the class of its command and the mode of its run; each may make the verdict stricter and none looser. Verdicts are `allow`, `ask` and `refuse`; a refusal is never asked about. `flotilla policy explain "COMMAND"` and `flotilla policy decide --jsonl` answer without a fleet.',
    '## Capabilities',
    'A grant is `true`, `false`, `ask`, or a mapping of limits: `paths`, `exclude`, `network`, `classes`, `max_depth`, `ask`. What is not listed is not granted, is not offered to the model and is refused if called. A group such as `fs.*` names all of its capabilities.',
    renderTable(
      ['Capability', 'Group', 'What it permits', 'Changes files', 'Paths', 'Commands'],
      capabilityIds.map((id) => {
        const { summary, mutates, names, runs } = capabilities[id];
        return [code(id), code(groupOf(id)), summary, mutates ? 'yes' : 'no', names, runs];
      }),
    ),
    '## Modes',
    renderTable(
      ['Mode', 'Meaning'],
      modes.map(([mode, meaning]) => [code(mode), meaning]),
    ),
    '## Classes of commands',
    'A command is parsed, and every part of it has a class. The verdict follows from the set of all classes, never from the worst alone. What is not known, cannot be parsed, is only made while it runs, or is over a limit, is MUTATING or worse.',
    renderTable(
      ['Class', 'A command of it', 'Verdict', 'Without a network'],
      commandClasses.map((each) => [
        code(each),
        summaryOfClass[each],
        decideByClasses([each], true),
        decideByClasses([each], false),
      ]),
    ),
    '## Rules',
    'Programs by family, with their class before options and arguments make it worse, and the first of the examples that each rule is held against. `!` marks what cannot be taken back.',
    ...Object.entries(ruleFamilies).flatMap(([family, rules]) => [
      `### ${family}`,
      renderTable(
        ['Programs', 'Class', 'Why', 'Example'],
        rules.map(({ names, is, why, examples }) => {
          const [example] = examples;
          return [
            namesOf(names).map(code).join(' '),
            is,
            why ?? summaryOfClass[is],
            example === undefined ? '' : `${code(example[0].replaceAll('\n', ' ⏎ '))}: ${example[1]}`,
          ];
        }),
      ),
    ]),
    '## Who may do what',
    'A token has roles, and each call wants one of them.',
    renderTable(
      ['Role', 'Calls'],
      roles.map((role) => [
        code(role),
        callCatalogue
          .filter((call) => call.roles.includes(role))
          .map(({ name }) => code(name))
          .join(', '),
      ]),
    ),
  ]);
}
