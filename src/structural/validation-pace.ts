import { Pace } from '../util/turns.ts';

/** The turn of a validation is shorter than others, because a single search for a pattern takes up to six milliseconds. */
const TURN_MS = 8;

/** Steps are values, which cost more than the steps of other work. */
export const validationPace = (): Pace => new Pace({ turnMs: TURN_MS, stepsBetween: 32 });
