import { Pace } from '../util/turns.ts';

/** Of a validation: shorter than other turns, because a single search for a pattern takes up to six milliseconds. */
const TURN_MS = 8;

/** Steps are values, which cost more than the steps of other work. */
export const validationPace = (): Pace => new Pace({ turnMs: TURN_MS, stepsBetween: 32 });
