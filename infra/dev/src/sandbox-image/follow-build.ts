/** One line of the progress that the Docker engine streams while it pulls, imports or builds. */
export interface EngineProgress {
  readonly stream?: string;
  readonly status?: string;
  readonly error?: string;
}

/** Reads an engine's progress stream to its end. Returns the last line; an error line is thrown as an Error. */
export async function followBuild(
  progress: NodeJS.ReadableStream,
  onProgress: (line: EngineProgress) => void,
): Promise<EngineProgress> {
  let rest = '';
  let last: EngineProgress = {};
  for await (const chunk of progress) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') last = take(line, onProgress);
  }
  return rest.trim() === '' ? last : take(rest, onProgress);
}

function take(line: string, onProgress: (line: EngineProgress) => void): EngineProgress {
  // The engine's own protocol: objects whose fields, where present, are strings.
  const progress = JSON.parse(line) as EngineProgress;
  if (progress.error !== undefined) throw new Error(progress.error.trim());
  onProgress(progress);
  return progress;
}
