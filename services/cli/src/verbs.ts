import type { Verb } from './verb.ts';
import { addProject } from './verbs/add-project.ts';
import { archive } from './verbs/archive.ts';
import { cancel } from './verbs/cancel.ts';
import { listDead, replayDead, showDead } from './verbs/dead.ts';
import { approve, decline, requestChanges } from './verbs/decide.ts';
import { diff } from './verbs/diff.ts';
import { doctor } from './verbs/doctor.ts';
import { events } from './verbs/events.ts';
import { gates } from './verbs/gates.ts';
import { list } from './verbs/list.ts';
import { output } from './verbs/output.ts';
import { listProjects, showProject } from './verbs/projects.ts';
import { classifyPolicy, decidePolicy, explainPolicy } from './verbs/policy.ts';
import { removeProject } from './verbs/remove-project.ts';
import { retry } from './verbs/retry.ts';
import { salvage } from './verbs/salvage.ts';
import { show } from './verbs/show.ts';
import { submit } from './verbs/submit.ts';
import { watch } from './verbs/watch.ts';

/** Every verb of the command line, in the order a newcomer meets them. */
export const verbs: readonly Verb[] = [
  addProject,
  listProjects,
  showProject,
  removeProject,
  submit,
  list,
  show,
  watch,
  diff,
  output,
  gates,
  approve,
  requestChanges,
  decline,
  cancel,
  retry,
  salvage,
  events,
  listDead,
  showDead,
  replayDead,
  archive,
  explainPolicy,
  classifyPolicy,
  decidePolicy,
  doctor,
];
