/**
 * Names of directories that package managers fill, at any depth. What setup leaves there is kept for later workspaces, and it
 * is never part of a change unless the base has it, whether or not the repository ignores it.
 */
export const dependencyDirectories = ['node_modules', '.venv'] as const;
