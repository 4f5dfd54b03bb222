import { render } from 'preact';
import './style/tokens.css';
import './style/shell.css';
import './style/list.css';
import './style/object.css';
import './style/changes.css';
import { App } from './views/app.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('the page has no place for the console');
render(<App />, root);
