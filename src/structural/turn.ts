/** How long a validation may hold the event loop. */
const MAX_TURN_MS = 8;
const COST_BETWEEN_LOOKS = 32;

/** Checks the clock now and then. One value costs one. */
export class Turn {
  #cost = 0;
  #begunMs = performance.now();

  isOver(cost = 1): boolean {
    this.#cost += cost;
    if (this.#cost < COST_BETWEEN_LOOKS) return false;
    this.#cost = 0;
    return performance.now() - this.#begunMs > MAX_TURN_MS;
  }

  begin(): void {
    this.#begunMs = performance.now();
  }
}
