export const words = {
  title: 'First steps',
  lead: 'From nothing to the first rows of a customer, in this browser.',
  hide: 'Hide',
  show: 'Show the first steps',
  done: 'done',
  steps: {
    destination: {
      title: 'Say where data goes',
      text: 'Choose a destination and make a connection template from it. The sources of all customers are connected to it.',
    },
    source: {
      title: 'Offer a source',
      text: 'Choose a connector and make a source template from it: that is what customers see in the widget. “Sample data” needs no account.',
    },
    customer: {
      title: 'Add a customer',
      text: 'Later, your backend does this by asking for a widget token. For a first try any name will do.',
    },
    connect: {
      title: 'Connect a source as this customer',
      text: 'Open the widget in a tab of its own, as your customers will see it, and connect the source there.',
    },
    rows: {
      title: 'See the first rows arrive',
      text: 'The first sync starts by itself. This list goes away when its rows have arrived.',
    },
  },
  chooseDestination: 'Choose a destination',
  chooseSource: 'Choose a connector',
  seeJobs: 'See the jobs',
  addCustomer: 'Add customer',
  addText: 'A customer is a workspace of your organization. Your backend names it in the same way.',
  customerName: 'Name',
  nameHint: 'As your backend will name it, for example acme-inc.',
  added: (name: string) => `${name} is there`,
  openWidget: 'Open the widget',
  openText: (name: string) =>
    `Makes a link to the real widget as ${name}. Whoever has it can connect and remove sources of this customer for one hour.`,
  makeLink: 'Make a link',
  linkText: 'The link opens the real widget in a new tab. It works for one hour; do not pass it on.',
  openAs: (name: string) => `Open the widget as ${name}`,
  copyLink: 'Copy the link',
  toCustomer: 'Go to the customer',
};
