import { aborted } from '../util/aborted.ts';
import type { Services } from './services.ts';

/**
 * A part of the server that builds on the parts before it. A phase is begun when the one before it is ready, and ended before the
 * one before it is.
 */
export interface Phase {
  /** Begins, then runs until the signal aborts. Resolves when everything that the phase began has ended, last first. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the next phase may build on this one. @throws Error when it cannot become ready */
  ready(): Promise<void>;
  /** Gives back what the phase holds. Called when its run has ended. */
  close(): Promise<void>;
}

export interface PhaseParts {
  /** Those of this phase alone. */
  readonly services: Services;
  /** Starts the services and waits for what the next phase needs. */
  readonly begin: () => Promise<void>;
  /** Comes before the services are stopped. */
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
