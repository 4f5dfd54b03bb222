/** A wrong command line: exit code 2. The message names the argument, and the correct form. */
export class UsageError extends Error {}

/** A failed command: exit code 1, with the reason. */
export class CommandError extends Error {}
