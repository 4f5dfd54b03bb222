import { toAsOf } from '../../verbs/as-of.ts';

/** Whether the API takes the text as `?asOf=`. */
export const isMoment = (text: string): boolean => typeof toAsOf(text) !== 'string';
