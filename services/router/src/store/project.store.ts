import type { ProjectView } from '@flotilla/contracts/calls/project-view';
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
      await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`project/${project.name}`]);
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
}

function canonical(project: Project): string {
  return JSON.stringify(
    Object.entries(project)
      .filter(([, value]) => value !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}
