/** What of a workspace tells how it is tested. */
export interface TestFacts {
  /** Paths of files, workspace-relative; the root and one or two levels below are enough. */
  readonly files: readonly string[];
  /** Text of the files that `wantedFiles` names, where they exist. */
  readonly texts: Readonly<Record<string, string>>;
}

export interface DetectedTests {
  readonly command: string;
  readonly framework: string;
}

/** The files whose text matters. */
export const wantedFiles = [
  'package.json',
  'pyproject.toml',
  'setup.cfg',
  'tox.ini',
  'Makefile',
  'makefile',
  'GNUmakefile',
] as const;

/** How the project is tested, by what it says of itself; the first rule that fits. Undefined: it has no tests that we know. */
export function detectTests(facts: TestFacts): DetectedTests | undefined {
  return (
    fromPackage(facts) ??
    fromJavaScript(facts) ??
    fromRust(facts) ??
    fromGo(facts) ??
    fromPython(facts) ??
    fromMake(facts)
  );
}

const placeholder = /no test specified/;

function fromPackage({ files, texts }: TestFacts): DetectedTests | undefined {
  const script = readScripts(texts['package.json'])['test'];
  if (script === undefined || script.trim() === '' || placeholder.test(script)) return undefined;
  const runner = files.includes('pnpm-lock.yaml') ? 'pnpm' : files.includes('yarn.lock') ? 'yarn' : 'npm';
  return { command: `${runner} test`, framework: frameworkOf(script) };
}

function frameworkOf(script: string): string {
  return (
    /\b(vitest|jest|mocha|ava|tap|jasmine|playwright)\b/.exec(script)?.[1] ??
    (/node\s.*--test/.test(script) ? 'node:test' : 'package script')
  );
}

function fromJavaScript({ files, texts }: TestFacts): DetectedTests | undefined {
  const has = (pattern: RegExp) => files.some((file) => pattern.test(file));
  if (has(/^vitest\.config\.[cm]?[jt]s$/)) return { command: 'npx --no-install vitest run', framework: 'vitest' };
  if (has(/^jest\.config\.([cm]?[jt]s|json)$/)) return { command: 'npx --no-install jest', framework: 'jest' };
  if (has(/^\.mocharc\.([cm]?js|jsonc?|ya?ml)$/)) return { command: 'npx --no-install mocha', framework: 'mocha' };
  if (texts['package.json'] !== undefined && has(/(^|\/)[^/]+\.test\.[cm]?js$/))
    return { command: 'node --test', framework: 'node:test' };
  return undefined;
}

function fromRust({ files }: TestFacts): DetectedTests | undefined {
  return files.includes('Cargo.toml') ? { command: 'cargo test', framework: 'cargo' } : undefined;
}

function fromGo({ files }: TestFacts): DetectedTests | undefined {
  return files.includes('go.mod') ? { command: 'go test ./...', framework: 'go' } : undefined;
}

function fromPython({ files, texts }: TestFacts): DetectedTests | undefined {
  const configured =
    files.some((file) => /(^|\/)(pytest\.ini|conftest\.py)$/.test(file)) ||
    /\[tool\.pytest/.test(texts['pyproject.toml'] ?? '') ||
    /\[tool:pytest\]/.test(texts['setup.cfg'] ?? '') ||
    /\[pytest\]/.test(texts['tox.ini'] ?? '');
  if (configured) return { command: 'python3 -m pytest -q', framework: 'pytest' };
  const test = files.find((file) => /(^|\/)test[^/]*\.py$/.test(file));
  if (test === undefined) return undefined;
  const directory = test.includes('/') ? test.slice(0, test.lastIndexOf('/')) : '.';
  const packaged = directory === '.' || files.includes(`${directory}/__init__.py`);
  return {
    command: packaged ? 'python3 -m unittest discover' : `python3 -m unittest discover -s ${quote(directory)}`,
    framework: 'unittest',
  };
}

function fromMake({ texts }: TestFacts): DetectedTests | undefined {
  const text = texts['GNUmakefile'] ?? texts['makefile'] ?? texts['Makefile'];
  return text !== undefined && /^test\s*:(?!=)/m.test(text) ? { command: 'make test', framework: 'make' } : undefined;
}

function readScripts(text: string | undefined): Readonly<Record<string, string>> {
  if (text === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    const scripts = isRecord(parsed) ? parsed['scripts'] : undefined;
    return isRecord(scripts) && typeof scripts['test'] === 'string' ? { test: scripts['test'] } : {};
  } catch {
    return {};
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
