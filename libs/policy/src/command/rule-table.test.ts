import { expect, test } from 'vitest';
import { classifyCommand } from './classify-command.ts';
import { namesOf, ruleFamilies } from './rule-table.ts';
import type { Form } from './rule.ts';

const rules = Object.entries(ruleFamilies).flatMap(([family, each]) => each.map((rule) => ({ family, rule })));
const examples = rules.flatMap(({ family, rule }) =>
  rule.examples.map(([command, expected]) => [family, command, expected] as const),
);

test.each(examples)('%s: %j is %s', (_, command, expected) => {
  const { class: label, irreversible } = classifyCommand(command);
  expect(`${label}${irreversible ? '!' : ''}`).toBe(expected);
});

test('no program has two rules', () => {
  const names = rules.flatMap(({ rule }) => namesOf(rule.names));
  expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([]);
});

test('no verb is given twice, and every verb that cannot be taken back is one', () => {
  for (const { rule } of rules) checkVerbs(rule.names, rule);
});

function checkVerbs(name: string, form: Form): void {
  const listed = Object.values(form.verbs ?? {}).flatMap(namesOf);
  const shaped = Object.keys(form.forms ?? {}).flatMap(namesOf);
  const verbs = [...listed, ...shaped];
  expect(
    verbs.filter((verb, place) => verbs.indexOf(verb) !== place),
    name,
  ).toEqual([]);
  for (const verb of namesOf(form.final ?? '')) if (verb !== '') expect(verbs, name).toContain(verb);
  for (const [verb, inner] of Object.entries(form.forms ?? {})) checkVerbs(`${name} ${verb}`, inner);
}
