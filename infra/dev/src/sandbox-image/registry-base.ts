import type Dockerode from 'dockerode';
import type { Activity } from '../report.ts';
import { followBuild } from './follow-build.ts';

export interface PullOptions {
  readonly docker: Dockerode;
  readonly image: string;
  readonly activity: Activity;
  readonly signal?: AbortSignal | undefined;
  /** How long the registry may take to say its first word. Default 5000. */
  readonly answerWithinMs?: number;
}

/** How a pull ended: the image is here, or the reason why it is not. */
export type PullResult = { readonly kind: 'here' } | { readonly kind: 'unavailable'; readonly reason: string };

/** Makes sure that the engine has `image`, from a registry if need be. One that stays silent for five seconds counts as none. */
export async function pullImage({
  docker,
  image,
  activity,
  signal,
  answerWithinMs = 5_000,
}: PullOptions): Promise<PullResult> {
  if (await hasImage(docker, image)) return { kind: 'here' };
  const silence = new AbortController();
  const timer = setTimeout(
    () => silence.abort(new Error(`no registry answered within ${answerWithinMs / 1_000} s`)),
    answerWithinMs,
  );
  const abortSignal = AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]);
  try {
    const progress = await docker.pull(image, { abortSignal });
    await followBuild(progress, ({ status }) => {
      clearTimeout(timer);
      activity.update(`pulling ${image}: ${status ?? ''}`.toLowerCase());
    });
    return { kind: 'here' };
  } catch (error) {
    signal?.throwIfAborted();
    if (silence.signal.aborted) return { kind: 'unavailable', reason: String(silence.signal.reason.message) };
    return { kind: 'unavailable', reason: tidy(error instanceof Error ? error.message : String(error)) };
  } finally {
    clearTimeout(timer);
  }
}

export async function hasImage(docker: Dockerode, image: string): Promise<boolean> {
  try {
    await docker.getImage(image).inspect();
    return true;
  } catch (error) {
    if (error instanceof Error && 'statusCode' in error && error.statusCode === 404) return false;
    throw error;
  }
}

/** The engine's own words without the client's "(HTTP code 500) server error - " before them. */
function tidy(message: string): string {
  return message.replace(/^\(HTTP code \d+\) [a-z ]+ - /, '').trim();
}
