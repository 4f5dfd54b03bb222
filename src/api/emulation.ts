/**
 * The minor versions of Kubernetes 1 that the server can emulate, oldest first. One is chosen at the start
 * (--emulated-version), and everything that differs between them is resolved then: no request asks for the version.
 */
export const MINORS = [31, 32, 33, 34, 35, 36] as const;

export type Minor = (typeof MINORS)[number];

export const NEWEST_MINOR = 36;

/** The versions that have a field, a message, a version of a resource. `until` is the first that has it no more. */
export interface Life {
  readonly since?: Minor;
  readonly until?: Minor;
}

export const isAlive = ({ since, until }: Life, minor: Minor): boolean =>
  (since === undefined || since <= minor) && (until === undefined || minor < until);

/** `1.33` → 33. Undefined: no version that the server emulates. */
export const parseMinor = (text: string): Minor | undefined =>
  MINORS.find((minor) => toVersion(minor) === text);

/** 33 → `1.33` */
export const toVersion = (minor: Minor): string => `1.${minor}`;
