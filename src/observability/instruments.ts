import { goFloat } from '../util/go-float.ts';

/**
 * Counters, gauges and histograms for hot paths. A child stands for one label set: the code that counts looks it up once and
 * keeps it, so counting is a plain addition (10 ns, where prom-client's observation costs 1.5 µs).
 */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly samples: readonly Sample[];
  /** Deprecated; exposed only with --show-hidden-metrics-for-version. */
  readonly hidden?: boolean;
  /** The version of Kubernetes that has deprecated it, such as `1.34.0`. */
  readonly deprecated?: string;
}

export interface Sample {
  /** The family's name, or that with _bucket, _sum or _count. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export interface Instrument {
  readonly name: string;
  collect(): MetricFamily;
}

interface InstrumentInit {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly hidden?: boolean;
  readonly deprecated?: string | undefined;
}

/** The children of an instrument by their label values. */
class Children<Child> {
  readonly #names: readonly string[];
  readonly #create: () => Child;
  readonly #byKey = new Map<string, { labels: Record<string, string>; child: Child }>();

  constructor(names: readonly string[], create: () => Child) {
    this.#names = names;
    this.#create = create;
  }

  /** Values in the order of the names. */
  at(values: readonly string[]): Child {
    const key = values.join('\0');
    const known = this.#byKey.get(key);
    if (known !== undefined) return known.child;
    const labels = Object.fromEntries(this.#names.map((name, at) => [name, values[at] ?? '']));
    const child = this.#create();
    this.#byKey.set(key, { labels, child });
    return child;
  }

  all(): Iterable<{ labels: Record<string, string>; child: Child }> {
    return this.#byKey.values();
  }

  remove(values: readonly string[]): void {
    this.#byKey.delete(values.join('\0'));
  }

  clear(): void {
    this.#byKey.clear();
  }
}

export class Cell {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

/** A counter or a gauge. */
export class Numbers implements Instrument {
  readonly name: string;
  readonly #init: InstrumentInit;
  readonly #type: 'counter' | 'gauge';
  readonly #children: Children<Cell>;
  readonly #refresh: ((numbers: Numbers) => void) | undefined;

  /** `refresh` is called before each scrape, for values that are read instead of counted. */
  constructor(type: 'counter' | 'gauge', init: InstrumentInit, refresh?: (numbers: Numbers) => void) {
    this.name = init.name;
    this.#init = init;
    this.#type = type;
    this.#children = new Children(init.labels ?? [], () => new Cell());
    this.#refresh = refresh;
  }

  at(...values: string[]): Cell {
    return this.#children.at(values);
  }

  remove(...values: string[]): void {
    this.#children.remove(values);
  }

  clear(): void {
    this.#children.clear();
  }

  collect(): MetricFamily {
    this.#refresh?.(this);
    const { name, help, hidden = false, deprecated } = this.#init;
    const samples = [...this.#children.all()].map(({ labels, child }) => ({
      name,
      labels,
      value: child.value,
    }));
    return { name, help, type: this.#type, samples, hidden, ...(deprecated && { deprecated }) };
  }
}

export class Distribution {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length).fill(0);
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count += 1;
    for (let at = 0; at < this.#bounds.length; at += 1) {
      if (value <= (this.#bounds[at] ?? 0)) {
        this.#counts[at] = (this.#counts[at] ?? 0) + 1;
        return;
      }
    }
  }

  samples(name: string, labels: Readonly<Record<string, string>>): Sample[] {
    let below = 0;
    const buckets = this.#bounds.map((bound, at) => {
      below += this.#counts[at] ?? 0;
      return { name: `${name}_bucket`, labels: { ...labels, le: goFloat(bound) }, value: below };
    });
    return [
      ...buckets,
      { name: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: this.#count },
      { name: `${name}_sum`, labels, value: this.#sum },
      { name: `${name}_count`, labels, value: this.#count },
    ];
  }
}

export class Histogram implements Instrument {
  readonly name: string;
  readonly #init: InstrumentInit;
  readonly #children: Children<Distribution>;

  /** `bounds`: upper bounds of the buckets, rising. */
  constructor(init: InstrumentInit, bounds: readonly number[]) {
    this.name = init.name;
    this.#init = init;
    this.#children = new Children(init.labels ?? [], () => new Distribution(bounds));
  }

  at(...values: string[]): Distribution {
    return this.#children.at(values);
  }

  collect(): MetricFamily {
    const { name, help, hidden = false, deprecated } = this.#init;
    const samples = [...this.#children.all()].flatMap(({ labels, child }) => child.samples(name, labels));
    return { name, help, type: 'histogram', samples, hidden, ...(deprecated && { deprecated }) };
  }
}

/** Bounds of buckets where Kubernetes names none: those of Prometheus' libraries. */
export const DEFAULT_SECONDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** `exponential(1000, 10, 3)`: 1000, 10000, 100000. */
export const exponential = (first: number, factor: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => first * factor ** at);
