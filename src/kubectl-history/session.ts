import type { CommandArguments, CommandLine } from './arguments.ts';
import type { FlagKey } from './flags.ts';
import { createHistoryClient, type HistoryClient } from './history-client.ts';
import { type Cluster, readCluster } from './kubeconfig.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';
import { createResources, type Resources } from './resources.ts';
import type { Screen } from './screen.ts';

/** One call of the plugin: what its commands work with. */
export interface Session {
  readonly screen: Screen;
  readonly kubectl: Kubectl;
  readonly env: NodeJS.ProcessEnv;
  /** One moment for the whole call. */
  readonly now: Date;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** Undefined where nobody is at a terminal to answer. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  open(): Promise<OpenSession>;
}

export interface OpenSession {
  readonly cluster: Cluster;
  readonly resources: Resources;
  readonly history: HistoryClient;
}

/** One of the commands, with what its help says. */
export interface Command {
  readonly name: string;
  /** What stands behind the name: `(TYPE/NAME | TYPE)`. */
  readonly usage: string;
  readonly summary: string;
  readonly notes?: readonly string[];
  readonly takes: readonly FlagKey[];
  /** What -o takes. */
  readonly formats?: readonly string[];
  /** Each with what it is for. */
  readonly examples: readonly (readonly [string, string])[];
  /** What the flags are called by the server, whose messages are to name the flags. */
  readonly fields?: Readonly<Record<string, string>>;
  /** What the exit code of a failure is, where it is not 1. */
  readonly failure?: number;
  /** Answers the exit code. @throws UsageError, CommandError */
  run(session: Session, args: CommandArguments): Promise<number>;
}

export interface SessionOptions {
  readonly screen: Screen;
  readonly env: NodeJS.ProcessEnv;
  readonly line: CommandLine;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly ask: Session['ask'];
}

export function createSession({ screen, env, line, now, signal, ask }: SessionOptions): Session {
  // The namespace is part of the paths that are asked for.
  const flags = line.forKubectl.filter((flag) => !flag.startsWith('--namespace='));
  const kubectl = createKubectl({ flags, env, warn: (text) => screen.tell(text) });
  return {
    ...{ screen, env, now, signal, ask, kubectl },
    async open() {
      const cluster = await readCluster(kubectl, line, env);
      const { server } = cluster;
      const resources = createResources({ kubectl, server, env, now: () => now });
      return { cluster, resources, history: createHistoryClient({ kubectl, server, resources }) };
    },
  };
}
