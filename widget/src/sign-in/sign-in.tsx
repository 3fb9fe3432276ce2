/** The parts of screens on which a customer signs in with a provider. */
import './sign-in.css';

export { resume } from './resume.ts';
export { SignInAgain } from './sign-in-again.tsx';
export { SignInForm } from './sign-in-form.tsx';
