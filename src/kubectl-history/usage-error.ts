/** The command line is wrong: exit code 2. The message names the argument, and what is right. */
export class UsageError extends Error {}

/** The command cannot do what it was asked: exit code 1, and the message says why. */
export class CommandError extends Error {}
