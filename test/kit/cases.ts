/**
 * How many cases a random test tries: all of them in `npm run test:all` and where its file is asked for by name, the first fifth in
 * `npm test`.
 */
export const cases = (all: number): number =>
  process.env.TEST_SHORT === undefined ? all : Math.ceil(all / 5);
