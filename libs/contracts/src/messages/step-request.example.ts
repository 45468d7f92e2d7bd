/** Shared parts of the golden examples of step requests. */
export const exampleStep = (stepId: string) => ({
  runId: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8',
  stepId,
  attempt: 1,
  project: { name: 'slugify', remote: 'https://git.example.com/acme/slugify.git' },
  goal: 'Make slugify keep digits.',
  mode: 'auto' as const,
  deadline: '2030-01-01T00:00:00.000Z',
});

export const exampleWork = {
  repository: 'git.example.com/acme/slugify',
  branch: 'main',
  base: { commit: 'a'.repeat(40), tree: 'e'.repeat(40), bundle: 'base/' + 'a'.repeat(40) },
  setupKey: null,
};

export const exampleAgent = {
  grants: { 'fs.read': true, 'fs.write': { paths: ['src/**'] } },
  allowance: { turns: 40, calls: 120, tokens: 400_000, microdollars: 2_000_000, seconds: 1800 },
};

export const exampleChange = {
  commit: 'c'.repeat(40),
  tree: 'b'.repeat(40),
  base: 'a'.repeat(40),
  bundle: 'run_01j9z3k8m2n4p6q8r0s2t4v6w8/build/1',
  diffIdentity: 'd'.repeat(64),
  files: [{ path: 'slugify.js', status: 'modified' as const, additions: 1, deletions: 1 }],
};
