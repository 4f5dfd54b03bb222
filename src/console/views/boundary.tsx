import { Component, type ComponentChildren, type JSX } from 'preact';
import { Trouble } from './notice.tsx';

/** Shows errors of drawing in their place; the rest of the page works on. */
export class Boundary extends Component<
  { readonly children: ComponentChildren },
  { readonly error?: unknown }
> {
  override componentDidCatch(error: unknown): void {
    // Also logs to the browser's console.
    console.error(error);
    this.setState({ error });
  }

  render(): JSX.Element {
    const { error } = this.state;
    if (error === undefined) return <>{this.props.children}</>;
    return <Trouble error={error} retry={() => location.reload()} />;
  }
}
