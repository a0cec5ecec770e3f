"""The paper's theory, checked: each study measures one claim and ends in a table and a plot."""
