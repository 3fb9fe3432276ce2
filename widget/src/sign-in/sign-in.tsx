/** The parts of screens on which a customer signs in with a provider. */
import './sign-in.css';

export { SignInAgain } from './sign-in-again.tsx';
export { SignInForm } from './sign-in-form.tsx';
