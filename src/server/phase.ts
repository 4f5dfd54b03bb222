import { aborted } from '../util/pause.ts';
import type { Services } from './services.ts';

/**
 * A part of the server that builds on the parts before it. It begins when the previous phase is ready, and ends before the previous
 * phase does.
 */
export interface Phase {
  /** Begins, then runs until the signal aborts. Resolves when everything that the phase began has ended, in reverse order. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the next phase may build on this one. @throws Error when it cannot become ready */
  ready(): Promise<void>;
  /** Releases resources. Called when the run has ended. */
  close(): Promise<void>;
}

interface PhaseParts {
  /** The services of this phase alone. */
  readonly services: Services;
  /** Starts the services, and waits until the next phase can begin. */
  readonly begin: () => Promise<void>;
  /** Called before the services are stopped. */
  readonly leave?: () => Promise<void>;
  readonly close?: () => Promise<void>;
}

export function createPhase({ services, begin, leave, close }: PhaseParts): Phase {
  const begun = Promise.withResolvers<void>();
  return {
    run: async (signal) => {
      begin().then(begun.resolve, begun.reject);
      await aborted(signal);
      await leave?.();
      await services.stop();
    },
    ready: () => begun.promise,
    close: async () => close?.(),
  };
}

interface Running {
  readonly phase: Phase;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** The phases of one server in the order in which they were begun. */
export class Phases {
  readonly #running: Running[] = [];

  /** Resolves when the phase is ready. @throws Error when it cannot become ready */
  async begin<Begun extends Phase>(phase: Begun): Promise<Begun> {
    const stop = new AbortController();
    this.#running.push({ phase, stop, ended: phase.run(stop.signal) });
    await phase.ready();
    return phase;
  }

  /** Ends all of them, last first. */
  async end(): Promise<void> {
    for (const { phase, stop, ended } of this.#running.toReversed()) {
      stop.abort();
      await ended;
      await phase.close();
    }
  }
}
