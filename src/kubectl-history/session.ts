import type { CommandArguments, CommandLine } from './arguments.ts';
import type { FlagKey } from './flags.ts';
import { createResources, type Resources } from './found-resources.ts';
import { HistoryClient } from './history-client.ts';
import { type Cluster, readCluster } from './kubeconfig.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';
import type { Screen } from './screen.ts';

/** The environment of one call of the plugin. */
export interface Session {
  readonly screen: Screen;
  readonly kubectl: Kubectl;
  readonly env: NodeJS.ProcessEnv;
  /** The same time for the whole call. */
  readonly now: Date;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** Undefined: no terminal to ask at. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  open(): Promise<OpenSession>;
}

export interface OpenSession {
  readonly cluster: Cluster;
  readonly resources: Resources;
  readonly history: HistoryClient;
}

/** A command, with its help. */
export interface Command {
  readonly name: string;
  /** The arguments after the name: `(TYPE/NAME | TYPE)`. */
  readonly usage: string;
  readonly summary: string;
  readonly notes?: readonly string[];
  readonly takes: readonly FlagKey[];
  /** The values of -o. */
  readonly formats?: readonly string[];
  /** Each with its purpose. */
  readonly examples: readonly (readonly [string, string])[];
  /** The server's field names of flags, to translate its messages. */
  readonly fields?: Readonly<Record<string, string>>;
  /** The exit code of failures, if not 1. */
  readonly failure?: number;
  /** Returns the exit code. @throws UsageError, CommandError */
  run(session: Session, args: CommandArguments): Promise<number>;
}

interface SessionOptions {
  readonly screen: Screen;
  readonly env: NodeJS.ProcessEnv;
  readonly line: CommandLine;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly ask: Session['ask'];
}

export function createSession({ screen, env, line, now, signal, ask }: SessionOptions): Session {
  // Request paths already contain the namespace.
  const flags = line.forKubectl.filter((flag) => !flag.startsWith('--namespace='));
  const kubectl = createKubectl({ flags, env, warn: (text) => screen.note(text) });
  return {
    ...{ screen, env, now, signal, ask, kubectl },
    async open() {
      const cluster = await readCluster(kubectl, line, env);
      const { server } = cluster;
      const resources = createResources({ kubectl, server, env, now: () => now });
      return { cluster, resources, history: new HistoryClient({ kubectl, server, resources }) };
    },
  };
}
