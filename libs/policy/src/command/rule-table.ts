import type { CommandClass } from './command-class.ts';
import type { Form, Rule } from './rule.ts';
import { buildRules } from './rules/build.ts';
import { cloudRules } from './rules/cloud.ts';
import { containerRules } from './rules/containers.ts';
import { fileRules } from './rules/files.ts';
import { gitRules } from './rules/git.ts';
import { javascriptPackageRules } from './rules/javascript-packages.ts';
import { languageRules } from './rules/languages.ts';
import { networkRules } from './rules/network.ts';
import { packageRules } from './rules/packages.ts';
import { readerRules } from './rules/readers.ts';
import { shellRules } from './rules/shell.ts';
import { systemRules } from './rules/system.ts';
import { wrapperRules } from './rules/wrappers.ts';

/** Every rule, by family; what is not here is MUTATING. */
export const ruleFamilies: Readonly<Record<string, readonly Rule[]>> = {
  readers: readerRules,
  files: fileRules,
  shell: shellRules,
  wrappers: wrapperRules,
  git: gitRules,
  languages: languageRules,
  build: buildRules,
  'javascript-packages': javascriptPackageRules,
  packages: packageRules,
  network: networkRules,
  containers: containerRules,
  cloud: cloudRules,
  system: systemRules,
};

const byName = new Map<string, Rule>(
  Object.values(ruleFamilies).flatMap((rules) =>
    rules.flatMap((rule) => namesOf(rule.names).map((name) => [name, rule] as const)),
  ),
);

export function findRule(name: string): Rule | undefined {
  return byName.get(name);
}

export function namesOf(names: string): readonly string[] {
  return names.trim().split(/\s+/);
}

const verbsOfForm = new WeakMap<Form, ReadonlyMap<string, Form>>();

/** What is known of a verb; undefined where it is not known. */
export function verbForm(form: Form, verb: string): Form | undefined {
  const verbs = verbsOfForm.get(form) ?? compileVerbs(form);
  verbsOfForm.set(form, verbs);
  return verbs.get(verb);
}

function compileVerbs(form: Form): ReadonlyMap<string, Form> {
  const verbs = new Map<string, Form>();
  const final = new Set(namesOf(form.final ?? ''));
  for (const [is, names] of Object.entries(form.verbs ?? {})) {
    // The keys of the record are classes; Object.entries forgets that.
    for (const name of namesOf(names)) verbs.set(name, inherit(form, { is: is as CommandClass }, final.has(name)));
  }
  for (const [names, verb] of Object.entries(form.forms ?? {})) {
    for (const name of namesOf(names)) verbs.set(name, inherit(form, verb, final.has(name)));
  }
  return verbs;
}

function inherit(form: Form, verb: Form, final: boolean): Form {
  const merged: Form = final ? { ...verb, irreversible: true } : verb;
  if (form.everywhere !== true) return merged;
  return {
    ...merged,
    valued: [form.valued, verb.valued].filter((each) => each !== undefined).join(' '),
    effects: [...(form.effects ?? []), ...(verb.effects ?? [])],
    everywhere: true,
  };
}
