/** What a request is expected to cost. A seat is one request's share of the server; wide requests need several. */
export interface Work {
  /** Seats while the request runs. */
  readonly initialSeats: number;
  /** Seats for what goes on after it was answered (events to watchers), for `extraMs`. */
  readonly finalSeats: number;
  readonly extraMs: number;
}

export const seatsOf = ({ initialSeats, finalSeats }: Work): number => Math.max(initialSeats, finalSeats);

export const plainWork = (initialSeats: number): Work => ({ initialSeats, finalSeats: 0, extraMs: 0 });

export const MIN_SEATS = 1;
/** No request is counted as wider: while a wide one waits for its seats, the free ones are of no use to anybody. */
export const MAX_SEATS = 10;
