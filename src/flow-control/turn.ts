import type { AdmittedTurn, Classification } from './flow-control.ts';

/** What an admitted request gives back. */
export interface TurnActions {
  readonly classification: Classification;
  /** Gives the seats to others. */
  release(): void;
  /** Called when the request is over; undefined for everything but watches. */
  readonly forget: (() => void) | undefined;
}

/** The seats of an admitted request, given back exactly once. */
export class SeatedTurn implements AdmittedTurn {
  readonly admitted = true;
  readonly #actions: TurnActions;
  #seated = true;
  #running = true;

  constructor(actions: TurnActions) {
    this.#actions = actions;
  }

  get classification(): Classification {
    return this.#actions.classification;
  }

  initialized(): void {
    if (!this.#seated) return;
    this.#seated = false;
    this.#actions.release();
  }

  end(): void {
    this.initialized();
    if (!this.#running) return;
    this.#running = false;
    this.#actions.forget?.();
  }
}
