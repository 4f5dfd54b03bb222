/** The flags of all commands. Each command lists those that it takes. */

export interface Flag {
  readonly name: string;
  readonly short?: string;
  readonly type: 'string' | 'boolean';
  /** The placeholder of its value in the help. */
  readonly value?: string;
  readonly meaning: string;
  readonly choices?: readonly string[];
  /** Other words for true and false. */
  readonly words?: Readonly<Record<string, 'true' | 'false'>>;
  /** Whether it may be repeated. */
  readonly multiple?: boolean;
}

const MOMENT = 'moment';

export const FLAGS = {
  since: { name: 'since', type: 'string', value: MOMENT, meaning: 'from this moment or revision on' },
  until: { name: 'until', type: 'string', value: MOMENT, meaning: 'up to this moment or revision' },
  at: { name: 'at', type: 'string', value: MOMENT, meaning: 'the moment or revision whose state is meant' },
  from: { name: 'from', type: 'string', value: MOMENT, meaning: 'the moment or revision to compare from' },
  to: { name: 'to', type: 'string', value: MOMENT, meaning: 'the moment or revision to go to' },
  revision: { name: 'revision', type: 'string', value: 'number', meaning: 'the revision that is meant' },
  limit: { name: 'limit', type: 'string', value: 'number', meaning: 'at most so many' },
  path: {
    name: 'path',
    type: 'string',
    value: 'field',
    multiple: true,
    meaning: 'only this field, as spec.replicas, and what is in it; may be repeated',
  },
  by: { name: 'by', type: 'string', value: 'user', meaning: 'only what this user wrote' },
  manager: { name: 'manager', type: 'string', value: 'name', meaning: 'only what this field manager wrote' },
  verb: {
    name: 'verb',
    type: 'string',
    value: 'verb',
    choices: ['create', 'update', 'delete'],
    meaning: 'only create, update or delete',
  },
  allNamespaces: { name: 'all-namespaces', short: 'A', type: 'boolean', meaning: 'in all namespaces' },
  follow: { name: 'follow', short: 'f', type: 'boolean', meaning: 'go on with what comes, until Ctrl-C' },
  related: {
    name: 'related',
    type: 'boolean',
    meaning: 'with what it owns, and with what Events say of them',
  },
  oneline: { name: 'oneline', type: 'boolean', meaning: 'a line for each change' },
  withDependents: {
    name: 'with-dependents',
    type: 'boolean',
    meaning: 'what the object owned then is restored too',
  },
  dryRun: {
    name: 'dry-run',
    type: 'boolean',
    // As in kubectl's own commands. The server always does the dry run.
    words: { server: 'true', client: 'true', none: 'false' },
    meaning: 'show what would be changed, and change nothing',
  },
  yes: { name: 'yes', short: 'y', type: 'boolean', meaning: 'do it without asking' },
  noOpen: { name: 'no-open', type: 'boolean', meaning: 'print the address, and open no browser' },
  port: {
    name: 'port',
    type: 'string',
    value: 'number',
    meaning: 'the port on this machine; a free one unless given',
  },
  unified: {
    name: 'unified',
    short: 'U',
    type: 'string',
    value: 'lines',
    meaning: 'lines around each difference (default 3)',
  },
  showManagedFields: {
    name: 'show-managed-fields',
    type: 'boolean',
    meaning: 'with metadata.managedFields',
  },
  output: { name: 'output', short: 'o', type: 'string', value: 'format', meaning: 'the form of the output' },
  colour: {
    name: 'color',
    type: 'string',
    value: 'when',
    choices: ['auto', 'always', 'never'],
    meaning: 'auto (to a terminal, unless NO_COLOR is set), always or never',
  },
  noPager: { name: 'no-pager', type: 'boolean', meaning: 'never through a pager' },
  help: { name: 'help', short: 'h', type: 'boolean', meaning: 'help, with examples' },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagKey = keyof typeof FLAGS;

/** Flags of every command. */
export const EVERYWHERE: readonly FlagKey[] = ['colour', 'noPager', 'help'];

const toKubectl = (name: string, more: Partial<Flag> = {}): Flag => ({
  ...{ name, type: 'string', meaning: '' },
  ...more,
});

/** kubectl's connection flags, passed on unchanged. */
export const KUBECTL_FLAGS: readonly Flag[] = [
  toKubectl('namespace', { short: 'n' }),
  toKubectl('server', { short: 's' }),
  ...['context', 'cluster', 'user', 'kubeconfig', 'as', 'as-uid', 'token', 'username', 'password'].map(
    (name) => toKubectl(name),
  ),
  toKubectl('as-group', { multiple: true }),
  toKubectl('as-user-extra', { multiple: true }),
  ...['certificate-authority', 'client-certificate', 'client-key', 'tls-server-name'].map((name) =>
    toKubectl(name),
  ),
  ...['request-timeout', 'cache-dir', 'kuberc'].map((name) => toKubectl(name)),
  ...['insecure-skip-tls-verify', 'disable-compression', 'match-server-version'].map((name) =>
    toKubectl(name, { type: 'boolean' }),
  ),
];

/** Flags of other kubectl commands, with the alternative here. By name and by letter. */
export const FOREIGN_FLAGS: ReadonlyMap<string, string> = new Map([
  ...['l', 'selector', 'field-selector'].map(
    (name) => [name, 'there are no selectors: name a type or an object, as in deploy/web'] as const,
  ),
  ...['filename', 'R', 'recursive', 'k', 'kustomize'].map(
    (name) => [name, 'objects are named, as in deploy/web, and not read from files'] as const,
  ),
  ...['w', 'watch'].map((name) => [name, 'log --follow tells what comes'] as const),
  ...['no-headers', 'template', 'sort-by', 'show-labels'].map(
    (name) => [name, '-o json is for programs'] as const,
  ),
  ['to-revision', 'it is --to'],
  ['since-time', 'it is --since'],
  ['tail', 'it is --limit'],
]);
