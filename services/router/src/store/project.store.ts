import type { ProjectView } from '@flotilla/contracts/calls/project-view';
import type { ProjectName } from '@flotilla/contracts/ids';
import type { Project } from '@flotilla/contracts/project';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Store } from '@flotilla/store/store';
import { ProjectEntity } from './entities.ts';

export interface ProjectStorePorts {
  readonly store: Store;
  readonly clock: () => Date;
}

export class ProjectStore {
  readonly #ports: ProjectStorePorts;

  constructor(ports: ProjectStorePorts) {
    this.#ports = ports;
  }

  /** Adding the same again changes nothing; another of the same name is PROJECT_EXISTS, unless it may be replaced. */
  add(project: Project, replace: boolean): Promise<{ readonly project: ProjectView; readonly created: boolean }> {
    return this.#ports.store.transaction(async ({ em, query }) => {
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [projectLock(project.name)]);
      const found = await em.findOne(ProjectEntity, { name: project.name });
      if (found === null) {
        const createdAt = this.#ports.clock();
        em.create(ProjectEntity, { name: project.name, definition: project, createdAt }, { persist: true });
        return { project: { ...project, createdAt: createdAt.toISOString() }, created: true };
      }
      const same = canonical(found.definition) === canonical(project);
      if (!same && !replace) throw new FlotillaError(errors.projectExists, { project: project.name });
      if (!same) em.assign(found, { definition: project });
      return { project: { ...project, createdAt: found.createdAt.toISOString() }, created: false };
    });
  }

  find(name: ProjectName): Promise<Project | undefined> {
    return this.#ports.store.transaction(async ({ em }) => (await em.findOne(ProjectEntity, { name }))?.definition);
  }

  /** Frees the name; runs keep theirs. Throws PROJECT_UNKNOWN, or PROJECT_IN_USE while runs of it have not ended. */
  remove(name: ProjectName): Promise<{ readonly project: ProjectView; readonly credentialUsed: boolean }> {
    return this.#ports.store.transaction(async ({ em, query }) => {
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [projectLock(name)]);
      const found = await em.findOne(ProjectEntity, { name });
      if (found === null) throw new FlotillaError(errors.projectUnknown, { project: name });
      const running = await query<{ id: string }>(
        "select id from router.run where project = $1 and state <> 'ended' order by id",
        [name],
      );
      if (running.length > 0)
        throw new FlotillaError(errors.projectInUse, { project: name, runs: listSome(running.map(({ id }) => id)) });
      const { definition, createdAt } = found;
      const others = await query(
        "select 1 from router.project where name <> $1 and definition ->> 'credential' = $2 limit 1",
        [name, definition.credential ?? null],
      );
      em.remove(found);
      return { project: { ...definition, createdAt: createdAt.toISOString() }, credentialUsed: others.length > 0 };
    });
  }
}

/** Who makes a run of a project shares it, so that a project with a run under way is not removed unseen. */
export function projectLock(name: ProjectName): string {
  return `project/${name}`;
}

function listSome(ids: readonly string[]): string {
  const shown = ids.slice(0, 5);
  return ids.length > shown.length ? `${shown.join(', ')} and ${ids.length - shown.length} more` : shown.join(', ');
}

function canonical(project: Project): string {
  return JSON.stringify(
    Object.entries(project)
      .filter(([, value]) => value !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}
