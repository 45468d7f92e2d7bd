/** What has to be done before a project's checks can run. */
export type SetupPlan =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'commands';
      readonly commands: readonly string[];
      /** What the result depends on; see setupKey. */
      readonly lockFiles: readonly string[];
      /** Directories for the front of the path of every later command. */
      readonly path: readonly string[];
      /** What a person should know, such as that nothing pins the versions. */
      readonly notes: readonly string[];
    }
  | { readonly kind: 'unsupported'; readonly reason: string };

export interface SetupQuestion {
  /** Paths of the project's files at the base commit. */
  readonly files: readonly string[];
  /** The text of one of them. */
  readonly readFile: (path: string) => Promise<string>;
  /** Package managers in the image, such as npm, pnpm, yarn, python3. */
  readonly tools: ReadonlySet<string>;
}

type Part = Exclude<SetupPlan, { readonly kind: 'none' }>;

/** Finds how a project installs its dependencies, from the files at its root. Nothing is run. */
export async function detectSetup(question: SetupQuestion): Promise<SetupPlan> {
  const parts = [await detectNode(question), await detectPython(question)].filter((part) => part !== undefined);
  const unsupported = parts.find(({ kind }) => kind === 'unsupported');
  if (unsupported) return unsupported;
  const plans = parts.filter((part) => part.kind === 'commands');
  if (plans.length === 0) return { kind: 'none' };
  return {
    kind: 'commands',
    commands: plans.flatMap(({ commands }) => commands),
    lockFiles: plans.flatMap(({ lockFiles }) => lockFiles).toSorted(),
    path: plans.flatMap(({ path }) => path),
    notes: plans.flatMap(({ notes }) => notes),
  };
}

const nodeManagers = [
  { lock: 'package-lock.json', tool: 'npm', command: 'npm ci --no-audit --no-fund' },
  { lock: 'npm-shrinkwrap.json', tool: 'npm', command: 'npm ci --no-audit --no-fund' },
  { lock: 'pnpm-lock.yaml', tool: 'pnpm', command: 'pnpm install --frozen-lockfile' },
  { lock: 'yarn.lock', tool: 'yarn', command: 'yarn install --frozen-lockfile' },
] as const;

async function detectNode({ files, readFile, tools }: SetupQuestion): Promise<Part | undefined> {
  if (!files.includes('package.json')) return undefined;
  const manifest = parseJson(await readFile('package.json'));
  if (manifest === undefined) return { kind: 'unsupported', reason: 'package.json is not valid JSON' };
  const manager = nodeManagers.find(({ lock }) => files.includes(lock));
  const manifests = files.filter((file) => isManifest(file) && (file === 'package.json' || 'workspaces' in manifest));
  const settings = files.filter((file) => ['.npmrc', 'pnpm-workspace.yaml', '.yarnrc.yml'].includes(file));
  const common = { kind: 'commands', path: [], lockFiles: [...manifests, ...settings] } as const;

  if (manager === undefined) {
    if (!hasDependencies(manifest)) return undefined;
    const command = 'npm install --no-package-lock --no-save --no-audit --no-fund';
    return { ...common, commands: [command], notes: ['no lock file: the versions are those of the day of the setup'] };
  }
  if (!tools.has(manager.tool)) {
    return { kind: 'unsupported', reason: `it has a ${manager.lock}, and the sandbox image has no ${manager.tool}` };
  }
  if (manager.tool === 'npm' && installsNothing(await readFile(manager.lock))) return undefined;
  return { ...common, commands: [manager.command], lockFiles: [manager.lock, ...common.lockFiles], notes: [] };
}

function isManifest(file: string): boolean {
  return /(^|\/)package\.json$/.test(file) && !/(^|\/)node_modules\//.test(file);
}

function hasDependencies(manifest: Readonly<Record<string, unknown>>): boolean {
  const names = ['dependencies', 'devDependencies', 'optionalDependencies', 'workspaces'];
  return names.some((name) => Object.keys(asRecord(manifest[name]) ?? {}).length > 0);
}

/** A lock file that holds the project itself and nothing more. */
function installsNothing(lock: string): boolean {
  const packages = asRecord(parseJson(lock)?.packages);
  return packages !== undefined && Object.keys(packages).every((name) => name === '');
}

const virtualEnvironment = '.venv';
/** Python before 3.13 does not hide its environments from git by itself. */
const makeEnvironment = `python3 -m venv ${virtualEnvironment} && printf '*\\n' > ${virtualEnvironment}/.gitignore`;
const pip = `${virtualEnvironment}/bin/pip install --disable-pip-version-check`;

async function detectPython({ files, readFile, tools }: SetupQuestion): Promise<Part | undefined> {
  const requirements = files.filter((file) => /^requirements([-_.](dev|test|tests))?\.txt$/.test(file)).toSorted();
  const project = await detectPythonProject(files, readFile);
  if (requirements.length === 0 && project === undefined) return undefined;
  if (!tools.has('python3'))
    return { kind: 'unsupported', reason: 'it is a Python project, and the sandbox image has no python3' };
  const lists = requirements.map((file) => `-r ${file}`).join(' ');
  const pinned = files.filter((file) => ['uv.lock', 'poetry.lock', 'Pipfile.lock'].includes(file));
  return {
    kind: 'commands',
    commands: [makeEnvironment, ...(lists === '' ? [] : [`${pip} ${lists}`]), ...(project?.commands ?? [])],
    lockFiles: [...requirements, ...(project?.files ?? []), ...pinned],
    path: [`${virtualEnvironment}/bin`],
    notes: pinned.map((file) => `${file} is not read: pip installs what the project names`),
  };
}

/** An editable install, so that tests see the workspace and not a copy of the base commit. */
async function detectPythonProject(
  files: readonly string[],
  readFile: SetupQuestion['readFile'],
): Promise<{ readonly commands: readonly string[]; readonly files: readonly string[] } | undefined> {
  const described = files.filter((file) => ['pyproject.toml', 'setup.py', 'setup.cfg'].includes(file));
  const toml = files.includes('pyproject.toml') ? await readFile('pyproject.toml') : '';
  const isPackage = files.includes('setup.py') || /^\[(project|build-system)\]/m.test(toml);
  if (!isPackage) return undefined;
  const extras = extraNames(toml).filter((name) => ['dev', 'test', 'tests', 'testing'].includes(name));
  const install = `${pip} -e ${extras.length === 0 ? '.' : `'.[${extras.join(',')}]'`}`;
  const needsOnlyItself = extras.length === 0 && described.length === 1 && namesNoDependencies(toml);
  return { commands: [needsOnlyItself ? `${install} || ${putOnPath}` : install], files: described };
}

/** For a project that needs nothing but build tools, on a machine that has no index to get them from. */
const putOnPath = `printf '/workspace/src\\n/workspace\\n' > "$(${virtualEnvironment}/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/workspace.pth"`;

function namesNoDependencies(toml: string): boolean {
  const project = section(toml, 'project');
  const listed = /^dependencies\s*=\s*\[([^\]]*)\]/m.exec(project)?.[1] ?? '';
  return (
    project !== '' &&
    listed.trim() === '' &&
    !/^dynamic\s*=.*dependencies/m.test(project) &&
    !toml.includes('[tool.poetry')
  );
}

function section(toml: string, name: string): string {
  const lines = toml.split('\n');
  const start = lines.indexOf(`[${name}]`);
  if (start < 0) return '';
  const end = lines.findIndex((line, index) => index > start && line.startsWith('['));
  return lines.slice(start + 1, end < 0 ? undefined : end).join('\n');
}

function extraNames(toml: string): readonly string[] {
  const extras = section(toml, 'project.optional-dependencies');
  return [...extras.matchAll(/^([A-Za-z0-9_-]+)\s*=/gm)].map(([, name = '']) => name);
}

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  // An object's members are unknown, which is what the type says.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}
